package dev.millrace.verify;

import java.util.Locale;

/** A proof as a person reads it: the verdict first, what to do last. Stateless. */
public final class ProofText {
  private ProofText() {}

  /** Returns lines, without a line feed behind the last one. */
  public static String of(Proof proof) {
    StringBuilder text = new StringBuilder();
    line(text, "%s of pipeline %s: %s", proof.table(), proof.pipeline(), headline(proof));
    line(text, "  watermark  %s", proof.watermark());
    line(
        text,
        "  lake       %s: %,d objects, %,d bytes, %,d rows",
        proof.folder(),
        proof.objects(),
        proof.bytes(),
        proof.rowsInLake());
    line(
        text,
        "  source     %s: %,d rows up to the watermark%s",
        proof.source(),
        proof.rowsAtSource(),
        proof.pending() == 0
            ? ""
            : ", of which the next run takes %,d that were written since"
                .formatted(proof.pending()));
    if (proof.rows() != null) {
      rows(text, proof.rows());
    }
    proof.notes().forEach(note -> line(text, "note: %s.", note));
    for (Finding finding : proof.findings()) {
      line(text, "! %s.", finding.text());
      finding.examples().forEach(example -> line(text, "    %s", example));
      line(text, "  what to do: %s.", finding.wayOut());
    }
    return text.toString().stripTrailing();
  }

  private static String headline(Proof proof) {
    return switch (proof.verdict()) {
      case PROVEN ->
          "PROVEN, each row of the table up to the watermark is in the lake, once for each version";
      case PROVEN_BUT_DELETED_ROWS ->
          "PROVEN for the rows that the table has; the lake has more, for which no parity is claimed";
      case FIGURES_AGREE ->
          "FIGURES AGREE (objects, manifests, windows, counts); no row was compared, --rows does that";
      case DIFFERS -> "DIFFERS, see below";
    };
  }

  private static void rows(StringBuilder text, Proof.Rows rows) {
    line(
        text,
        "  compared   %,d rows equal, %,d missing, %,d with other values, %,d twice; %,d above the watermark",
        rows.equal(),
        rows.missing(),
        rows.stale(),
        rows.twice(),
        rows.aboveWatermark());
    if (rows.olderVersions() > 0) {
      line(text, "  older      %,d rows of the lake are older versions", rows.olderVersions());
    }
    if (rows.deletedVersions() == 0) {
      return;
    }
    if (rows.deletedRows() >= 0) {
      line(
          text,
          "  deleted    %,d rows (%,d in the lake with their versions) are gone from the table; deletes are not tracked, so the lake keeps them, and no parity is claimed for them",
          rows.deletedRows(),
          rows.deletedVersions());
    } else {
      line(
          text,
          "  deleted?   %,d rows of the lake are not in the table now: deleted, or older versions; deletes are not tracked, and no parity is claimed for them",
          rows.deletedVersions());
    }
    rows.deletedExamples().forEach(example -> line(text, "    %s", example));
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
