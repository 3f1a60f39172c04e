// pgjdbc: values as drivers and frameworks bind them, in each of its ways to send a query.
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

public class Jdbc {
  static final String ASK = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex";
  static final List<Connection> ways = new ArrayList<>();

  interface Ask { Object of(Connection connection) throws Exception; }

  /** Ask in each of the driver's ways: all must agree. */
  static void check(String name, Ask ask) {
    try {
      Set<String> found = new LinkedHashSet<>();
      for (Connection way : ways) found.add(json(ask.of(way)));
      if (found.size() != 1) throw new IllegalStateException("they differ: " + found);
      System.out.println("{\"check\": " + json(name) + ", \"got\": " + found.iterator().next() + "}");
    } catch (Exception error) {
      System.out.println("{\"check\": " + json(name) + ", \"error\": " + json(String.valueOf(error)) + "}");
    }
  }

  static String json(Object value) {
    if (value instanceof List) {
      List<String> parts = new ArrayList<>();
      for (Object each : (List<?>) value) parts.add(json(each));
      return "[" + String.join(", ", parts) + "]";
    }
    if (value == null || value instanceof Number) return String.valueOf(value);
    String text = String.valueOf(value).replace("\\", "\\\\").replace("\"", "\\\"");
    return "\"" + text.replace("\n", "\\n").replace("\t", "\\t") + "\"";
  }

  static List<Object> rows(ResultSet found) throws SQLException {
    List<Object> rows = new ArrayList<>();
    while (found.next()) {
      List<Object> row = new ArrayList<>();
      for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) row.add(found.getObject(i));
      rows.add(row);
    }
    return rows;
  }

  static ResultSet ask(Connection c, String sql) throws SQLException {
    return c.createStatement().executeQuery(sql);
  }

  static Object one(Connection c, String where, Object... values) throws SQLException {
    try (PreparedStatement asked = c.prepareStatement("SELECT COUNT(*) FROM people WHERE " + where)) {
      for (int i = 0; i < values.length; i++) {
        if (values[i] instanceof Date) asked.setDate(i + 1, (Date) values[i]);
        else if (values[i] instanceof Timestamp) asked.setTimestamp(i + 1, (Timestamp) values[i]);
        else if (values[i] == null) asked.setNull(i + 1, Types.VARCHAR);
        else asked.setObject(i + 1, values[i]);
      }
      ResultSet found = asked.executeQuery();
      found.next();
      return found.getLong(1);
    }
  }

  static Object agreed(Object... found) {
    for (Object each : found)
      if (!each.equals(found[0])) throw new IllegalStateException("they differ: " + List.of(found));
    return found[0];
  }

  static Object names(ResultSetMetaData about) throws SQLException {
    List<Object> names = new ArrayList<>();
    for (int i = 1; i <= about.getColumnCount(); i++) names.add(about.getColumnName(i));
    return names;
  }

  static List<Object> column(ResultSet found, String name) throws SQLException {
    List<Object> cells = new ArrayList<>();
    while (found.next()) cells.add(found.getString(name));
    return cells;
  }

  static Object tables(Connection c) throws SQLException {
    DatabaseMetaData about = c.getMetaData();
    Set<Object> names = new TreeSet<>();
    for (String schema : List.of("census", "clinic"))
      names.addAll(column(about.getTables(null, schema, "%", new String[] {"TABLE"}), "TABLE_NAME"));
    about.getPrimaryKeys(null, "census", "people").close();
    about.getImportedKeys(null, "census", "people").close();
    about.getIndexInfo(null, "census", "people", false, true).close();
    about.getTypeInfo().close();
    return new ArrayList<>(names);
  }

  static Object pages(Connection c) throws SQLException {
    c.setAutoCommit(false);
    long count = 0, total = 0;
    try (Statement paged = c.createStatement()) {
      paged.setFetchSize(50);
      ResultSet found = paged.executeQuery("SELECT age, COUNT(*) AS n FROM people GROUP BY age");
      while (found.next()) {
        count++;
        total += found.getLong("n");
      }
    }
    c.commit();
    c.setAutoCommit(true);
    return List.of(count, total);
  }

  static Object copied(Connection c, String options) throws Exception {
    StringWriter into = new StringWriter();
    c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (" + ASK + ") TO STDOUT " + options, into);
    return into.toString();
  }

  static PSQLException failure(Connection c, String sql) throws SQLException {
    try {
      ask(c, sql);
      throw new IllegalStateException("it was answered");
    } catch (PSQLException error) {
      return error;
    }
  }

  static Connection connected(String way, String threshold) throws SQLException {
    Properties how = new Properties();
    how.put("user", System.getenv("PGUSER"));
    how.put("password", System.getenv("PGPASSWORD"));
    how.put("sslmode", "require");
    how.put("options", "-c discreet.epsilon=" + System.getenv("DISCREET_EPSILON"));
    how.put("preferQueryMode", way);
    how.put("prepareThreshold", threshold);
    String place = System.getenv("PGHOST") + ":" + System.getenv("PGPORT");
    return DriverManager.getConnection("jdbc:postgresql://" + place + "/discreet", how);
  }

  public static void main(String[] arguments) throws Exception {
    ways.add(connected("extended", "5"));
    ways.add(connected("extended", "-1")); // binary from the first question on
    ways.add(connected("simple", "0"));
    LocalDate day = LocalDate.of(1960, 1, 1);
    check("ask", c -> rows(ask(c, ASK)));
    check("names", c -> names(ask(c, "SELECT COUNT(*), AVG(age) FROM people").getMetaData()));
    String where = "age > ? AND sex = ? AND married = ? AND income < ?";
    check("parameters", c -> agreed(
        one(c, where, 30, "Male", true, 50000.5), one(c, where, 30L, "Male", true, new BigDecimal("50000.5"))));
    check("in", c -> one(c, "age IN (?,?)", 20, 21));
    check("array", c -> {
      Array ages = c.createArrayOf("int4", new Integer[] {20, 21});
      return one(c, "age = ANY(?)", ages);
    });
    check("date", c -> agreed(one(c, "born > ?", Date.valueOf(day)), one(c, "born > ?", day)));
    check("timestamp", c -> agreed(
        one(c, "born > ?", Timestamp.valueOf("1960-01-01 00:00:00")),
        one(c, "born > ?", LocalDateTime.of(1960, 1, 1, 0, 0)),
        one(c, "born > ?", OffsetDateTime.of(1960, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC))));
    check("range", c -> agreed(
        one(c, "born >= ? AND born < ?", Date.valueOf(day), Date.valueOf("1970-01-01")),
        one(c, "born >= {d '1960-01-01'} AND born < {ts '1970-01-01 00:00:00'}")));
    check("boolean", c -> one(c, "married = ?", true));
    check("null", c -> one(c, "sex = ?", (Object) null));
    check("division", c -> {
      ResultSet found = ask(c, "SELECT SUM(age) / COUNT(*) AS whole FROM people");
      found.next();
      return found.getLong("whole");
    });
    check("columns", c -> column(c.getMetaData().getColumns(null, "census", "people", "%"), "COLUMN_NAME"));
    check("tables", Jdbc::tables);
    check("preview", c -> rows(ask(c, "SELECT * FROM preview.people")).size());
    check("copy text", c -> copied(c, ""));
    check("copy csv", c -> copied(c, "WITH (FORMAT csv, HEADER)"));
    check("pages", Jdbc::pages);
    check("position", c -> String.valueOf(
        failure(c, "SELECT sex, COUNT(*) FORM people").getServerErrorMessage().getPosition()));
    check("refused", c -> failure(c, "SELECT * FROM people").getSQLState());
    check("budget", c -> new ArrayList<>(new TreeSet<>(column(ask(c, "SHOW discreet.budget"), "dataset"))));
    for (Connection way : ways) way.close();
  }
}
