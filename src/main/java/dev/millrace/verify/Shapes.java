package dev.millrace.verify;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.parquet.FileColumn;
import dev.millrace.parquet.Form;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which columns are compared: those that an object and the table both have. A table's columns may
 * have changed between objects, so each set of columns among them is a shape of its own.
 *
 * @param cells all columns of all shapes, each in each form; what is read of a row of the table
 * @param shapes each as cells, by their place in {@code cells}
 * @param identity cells that tell a row; the primary key's where {@code identified}
 * @param identified whether all shapes have the primary key
 * @param notes what is not compared, for people
 */
record Shapes(
    List<Cell> cells,
    List<List<Integer>> shapes,
    List<Integer> identity,
    boolean identified,
    List<String> notes) {

  /** A column in one form. */
  record Cell(String name, Form form) {}

  /**
   * Chooses.
   *
   * @param objects what is compared; each has a footer
   * @param columns names of the table's columns
   * @param primaryKey names of its primary key's columns; empty for none
   * @throws MillraceException with {@code COLUMN_MISSING} when no column can be compared
   */
  static Shapes of(List<LakeObject> objects, Set<String> columns, List<String> primaryKey) {
    Set<List<Cell>> distinct = new LinkedHashSet<>();
    objects.forEach(object -> distinct.add(shape(object, columns)));
    List<Cell> common = new ArrayList<>();
    Set<Cell> cells = new LinkedHashSet<>();
    for (List<Cell> shape : distinct) {
      if (cells.isEmpty()) {
        common.addAll(shape);
      } else {
        common.retainAll(shape);
      }
      cells.addAll(shape);
    }
    if (common.isEmpty() && !objects.isEmpty()) {
      throw new MillraceException(
          ErrorCode.COLUMN_MISSING,
          "no column is in all objects and in the table, so no row can be compared");
    }
    List<Cell> all = List.copyOf(cells);
    Set<String> names = common.stream().map(Cell::name).collect(Collectors.toSet());
    boolean identified = !primaryKey.isEmpty() && names.containsAll(primaryKey);
    List<Integer> identity =
        common.stream()
            .filter(cell -> !identified || primaryKey.contains(cell.name()))
            .map(all::indexOf)
            .toList();
    List<List<Integer>> shapes =
        distinct.stream().map(shape -> shape.stream().map(all::indexOf).toList()).toList();
    return new Shapes(all, shapes, identity, identified, notes(objects, columns));
  }

  /** Returns the cells of an object, in the order of names: that of columns does not matter. */
  private static List<Cell> shape(LakeObject object, Set<String> columns) {
    List<Cell> shape = new ArrayList<>();
    for (int i = 0; i < object.footer().columns().size(); i++) {
      String name = object.footer().columns().get(i).name();
      Optional<Form> form = object.footer().forms().get(i);
      if (columns.contains(name) && form.isPresent()) {
        shape.add(new Cell(name, form.get()));
      }
    }
    shape.sort(Comparator.comparing(Cell::name));
    return shape;
  }

  /** Returns the shape of an object. */
  int of(LakeObject object, Set<String> columns) {
    return shapes.indexOf(shape(object, columns).stream().map(cells::indexOf).toList());
  }

  /** Returns where the cells of a shape are in an object's columns. */
  List<Integer> places(LakeObject object, int shape) {
    List<String> names = object.footer().columns().stream().map(FileColumn::name).toList();
    return shapes.get(shape).stream().map(cell -> names.indexOf(cells.get(cell).name())).toList();
  }

  private static List<String> notes(List<LakeObject> objects, Set<String> columns) {
    Set<String> gone = new TreeSet<>();
    Set<String> unknown = new TreeSet<>();
    Set<String> everywhere = new TreeSet<>(columns);
    Set<String> somewhere = new HashSet<>();
    for (LakeObject object : objects) {
      Set<String> here = new HashSet<>();
      for (int i = 0; i < object.footer().columns().size(); i++) {
        FileColumn column = object.footer().columns().get(i);
        here.add(column.name());
        if (!columns.contains(column.name())) {
          gone.add(column.name());
        } else if (object.footer().forms().get(i).isEmpty()) {
          unknown.add("%s (%s)".formatted(column.name(), column.type()));
        }
      }
      everywhere.retainAll(here);
      somewhere.addAll(here);
    }
    Set<String> never = new TreeSet<>(columns);
    never.removeAll(somewhere);
    Set<String> sometimes = new TreeSet<>(columns);
    sometimes.retainAll(somewhere);
    sometimes.removeAll(everywhere);
    List<String> notes = new ArrayList<>();
    if (!objects.isEmpty()) {
      note(notes, never, "not copied, so not compared");
    }
    note(notes, sometimes, "not in all objects, and compared only in those that have them");
    note(notes, gone, "no longer in the table, so not compared");
    note(notes, unknown, "of a type that Millrace does not write, so not compared");
    return List.copyOf(notes);
  }

  private static void note(List<String> notes, Set<String> names, String text) {
    if (!names.isEmpty()) {
      notes.add("columns %s: %s".formatted(text, String.join(", ", names)));
    }
  }
}
