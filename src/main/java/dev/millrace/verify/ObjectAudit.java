package dev.millrace.verify;

import dev.millrace.parquet.FileColumn;
import dev.millrace.replication.KeyKind;
import dev.millrace.replication.Manifest;
import dev.millrace.replication.Watermark;
import dev.millrace.verify.Finding.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Compares objects with their manifests, and manifests with each other and the watermark.
 *
 * <p>The state names the last object, and each manifest the object before it, back to a first load:
 * so a lost object is told from a window without rows, also when its manifest is lost, too. Used
 * once; not thread-safe.
 */
final class ObjectAudit {
  private static final String PUT_BACK =
      "put them back from a backup or an older version in the bucket, or load all again (millrace state reset) into an empty folder";

  private final Map<String, LakeObject> objects = new TreeMap<>();
  private final Map<String, Manifest> manifests;
  private final List<Finding> findings = new ArrayList<>();
  private final List<LakeObject> windows = new ArrayList<>();

  /**
   * What came out.
   *
   * @param windows the objects of the windows up to the watermark, the first one first
   * @param strays the objects that belong to none of them
   * @param findings what is not as it has to be
   */
  record Audited(List<LakeObject> windows, List<LakeObject> strays, List<Finding> findings) {}

  private ObjectAudit(List<LakeObject> objects, Map<String, Manifest> manifests) {
    objects.forEach(object -> this.objects.put(object.key(), object));
    this.manifests = manifests;
  }

  /**
   * Audits.
   *
   * @param objects all of the table's folder, but for one that is being published
   * @param manifests all that can be read, by the key of the object that they lie beside
   * @param lastObject the key of the object that the state says was published last; null for none
   * @param watermark how far the table is copied
   */
  static Audited audit(
      List<LakeObject> objects,
      Map<String, Manifest> manifests,
      String lastObject,
      KeyKind kind,
      String watermark) {
    ObjectAudit audit = new ObjectAudit(objects, manifests);
    audit.pairs();
    audit.figures();
    audit.windows(lastObject, kind, watermark);
    List<LakeObject> strays = List.copyOf(audit.objects.values());
    audit.strays(strays);
    return new Audited(List.copyOf(audit.windows), strays, List.copyOf(audit.findings));
  }

  private void pairs() {
    List<String> bare =
        objects.values().stream()
            .filter(object -> object.manifest() == null)
            .map(LakeObject::key)
            .toList();
    find(
        Kind.OBJECT_WITHOUT_MANIFEST,
        bare,
        "%,d objects have no manifest beside them, or none that can be read",
        "move what Millrace did not publish out of the folder, put lost manifests back from a backup or an older version in the bucket, or load all again (millrace state reset) into an empty folder");
    List<String> lost =
        manifests.values().stream()
            .filter(manifest -> !objects.containsKey(manifest.object()))
            .map(
                manifest ->
                    "%s: %,d rows of %s"
                        .formatted(manifest.object(), manifest.rows(), manifest.window()))
            .toList();
    find(
        Kind.MANIFEST_WITHOUT_OBJECT,
        lost,
        "%,d objects are gone, and only their manifests are left",
        PUT_BACK);
  }

  private void figures() {
    List<String> bytes = new ArrayList<>();
    List<String> rows = new ArrayList<>();
    List<String> columns = new ArrayList<>();
    for (LakeObject object : objects.values()) {
      Manifest manifest = object.manifest();
      if (manifest == null) {
        continue;
      }
      if (object.listed().bytes() != manifest.bytes()) {
        bytes.add(
            "%s: %,d bytes, the manifest says %,d"
                .formatted(object.key(), object.listed().bytes(), manifest.bytes()));
      }
      if (object.footer() == null) {
        continue;
      }
      if (object.footer().rows() != manifest.rows()) {
        rows.add(
            "%s: %,d rows in %,d row groups, the manifest says %,d rows"
                .formatted(
                    object.key(),
                    object.footer().rows(),
                    object.footer().rowGroups(),
                    manifest.rows()));
      }
      List<FileColumn> written =
          manifest.columns().stream()
              .map(column -> new FileColumn(column.name(), column.parquet()))
              .toList();
      String attempt = object.footer().metadata().get("millrace.attempt");
      if (!object.footer().columns().equals(written) || !manifest.attempt().equals(attempt)) {
        columns.add(
            "%s: its columns or its attempt (%s, the manifest says %s) are others"
                .formatted(object.key(), attempt, manifest.attempt()));
      }
    }
    find(Kind.BYTES_DIFFER, bytes, "%,d objects do not have the size that was written", PUT_BACK);
    find(Kind.ROWS_DIFFER, rows, "%,d objects do not have the rows that were written", PUT_BACK);
    find(
        Kind.COLUMNS_DIFFER,
        columns,
        "%,d objects are not those that their manifests are about",
        PUT_BACK);
  }

  private void windows(String lastObject, KeyKind kind, String watermark) {
    List<String> broken = new ArrayList<>();
    List<Manifest> chain = chain(lastObject, broken);
    for (int i = 0; i < chain.size(); i++) {
      Manifest manifest = chain.get(i);
      boolean last = i + 1 == chain.size();
      String end = last ? watermark : chain.get(i + 1).low();
      if (end == null || Watermark.compare(kind, manifest.high(), end) > 0) {
        broken.add(
            "%s ends at %s, and %s %s"
                .formatted(
                    manifest.object(),
                    manifest.high(),
                    last ? "the watermark is" : "the next one begins at",
                    end == null ? "the beginning" : end));
      }
      LakeObject object = objects.remove(manifest.object());
      if (object != null) {
        windows.add(object);
      }
    }
    find(
        Kind.WINDOWS_NOT_CONSECUTIVE,
        broken,
        "the windows do not lead from a first load to the watermark: %,d breaks",
        "look who writes into the folder besides Millrace; put back what is lost, or load all again (millrace state reset) into an empty folder");
  }

  /** Returns the manifests from the first load's to the last one. */
  private List<Manifest> chain(String lastObject, List<String> broken) {
    List<Manifest> chain = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    String namedBy = "the state";
    String key = lastObject;
    while (key != null) {
      Manifest manifest = manifests.get(key);
      if (manifest == null || !seen.add(key)) {
        broken.add("%s names %s, which has no manifest".formatted(namedBy, key));
        break;
      }
      chain.add(0, manifest);
      namedBy = key;
      key = manifest.previousObject();
    }
    return chain;
  }

  private void strays(List<LakeObject> strays) {
    find(
        Kind.OBJECT_OF_NO_WINDOW,
        strays.stream()
            .filter(object -> object.manifest() != null)
            .map(
                object ->
                    "%s: %,d rows of %s, run %s"
                        .formatted(
                            object.key(),
                            object.rows(),
                            object.manifest().window(),
                            object.manifest().runId()))
            .toList(),
        "%,d objects belong to no window of this load, and readers see their rows, too",
        "they are from before a millrace state reset, or somebody put them there: move them and their manifests out of the folder");
  }

  private void find(Kind kind, List<String> examples, String text, String wayOut) {
    if (!examples.isEmpty()) {
      findings.add(Finding.of(kind, text, examples.size(), examples, wayOut));
    }
  }
}
