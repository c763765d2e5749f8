// tests/java/Jdbc.java - asks a heap database by xerial's JDBC driver for SQLite: Jdbc HEAPDB_SO DATABASE;
// tests/e2e/sql_jdbc_test.sh says what it must print.

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.sqlite.SQLiteConfig;

public class Jdbc {
    private static void print(ResultSet rows) throws SQLException {
        while (rows.next()) {
            System.out.println(rows.getString(1) + " " + rows.getLong(2));
        }
        rows.close();
    }

    public static void main(String[] args) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.enableLoadExtension(true);
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:", config.toProperties());
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT load_extension('" + args[0] + "')");
            statement.execute("SELECT heapdb_open('" + args[1] + "')");
            int tables = 0;
            boolean hasObjects = false;
            try (ResultSet found = connection.getMetaData().getTables(null, null, "%", null)) {
                while (found.next()) {
                    tables++;
                    hasObjects |= found.getString("TABLE_NAME").equals("objects");
                }
            }
            boolean hasColumn = false;
            try (ResultSet found = connection.getMetaData().getColumns(null, null, "objects", "%")) {
                while (found.next()) {
                    hasColumn |= found.getString("COLUMN_NAME").equals("retained");
                }
            }
            System.out.println(tables > 40 && hasObjects && hasColumn);
            try (PreparedStatement question = connection.prepareStatement(
                    "SELECT class, count(*) FROM objects WHERE class GLOB ? GROUP BY 1 ORDER BY 2 DESC LIMIT 2")) {
                question.setString(1, "java.util.*");
                print(question.executeQuery());
            }
            print(statement.executeQuery("SELECT 'entries', sum(size) FROM \"java.util.HashMap\""));
            print(statement.executeQuery("SELECT kind, objects FROM kind_totals ORDER BY kind"));
        }
    }
}
