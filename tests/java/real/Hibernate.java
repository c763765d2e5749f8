// jars org.hibernate.orm:hibernate-core:6.6.5.Final com.h2database:h2:2.3.232 org.slf4j:slf4j-nop:2.0.16
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.hibernate.Session;
import org.hibernate.cfg.Configuration;

/** session: an import persists 20,000 entities in one session; plans: each query is another text. */
public class Hibernate {
	@Entity
	public static class Order {
		@Id
		long id;
		String customer;
		String note;
	}

	static Session kept;

	public static void main(String[] args) throws Exception {
		var configuration = new Configuration().addAnnotatedClass(Order.class)
			.setProperty("hibernate.connection.url", "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1")
			.setProperty("hibernate.hbm2ddl.auto", "create")
			.setProperty("hibernate.physical_naming_strategy",
				"org.hibernate.boot.model.naming.CamelCaseToUnderscoresNamingStrategy")
			.setProperty("hibernate.globally_quoted_identifiers", "true");
		var factory = configuration.buildSessionFactory();
		Session session = factory.openSession();
		if (args[1].equals("plans")) {
			for (int i = 0; i < 3000; i++)
				session.createQuery("from Hibernate$Order o where o.id = " + i, Order.class)
					.getResultList();
		} else {
			var transaction = session.beginTransaction();
			for (int i = 0; i < (args[1].equals("session") ? 20_000 : 500); i++) {
				Order order = new Order();
				order.id = i;
				order.customer = "customer " + i;
				order.note = "note " + i;
				session.persist(order);
			}
			session.flush();
			if (!args[1].equals("session"))
				transaction.commit();
		}
		kept = session;
		Real.dump(args[0]);
	}
}
