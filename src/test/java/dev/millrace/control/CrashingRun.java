package dev.millrace.control;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Scanner;

/** A process that appends and ships without end, for a test that kills it. */
final class CrashingRun {
  private CrashingRun() {}

  /**
   * Says {@code ready}, waits for {@code <run> <first number>}, then says each number that is
   * durable.
   *
   * @param arguments DSN, folder, extractor
   */
  public static void main(String[] arguments) {
    try (DsnDatabase database = DsnDatabase.of(arguments[0]);
        Scanner orders = new Scanner(System.in, StandardCharsets.UTF_8)) {
      database.transact(connection -> null);
      System.out.println("ready");
      if (!orders.hasNext()) {
        return;
      }
      WalFile file = new WalFile(Path.of(arguments[1]), arguments[2], orders.next());
      long first = orders.nextLong();
      Shipper shipper = new Shipper(database);
      Thread shipping = new Thread(() -> shipForEver(shipper, file), "shipping");
      shipping.setDaemon(true);
      try (Wal wal = Wal.open(file)) {
        append(wal, file, first);
        shipping.start();
        for (long number = first + 1; ; number++) {
          append(wal, file, number);
        }
      }
    }
  }

  private static void append(Wal wal, WalFile file, long number) {
    wal.append(WalWriter.event(file, number, "text " + number));
    System.out.println("appended " + number);
  }

  private static void shipForEver(Shipper shipper, WalFile file) {
    while (true) {
      shipper.ship(file);
    }
  }
}
