import java.security.SecureRandom;
import java.util.Random;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.servlet.http.HttpSession;

class Visits extends HttpServlet {
    protected void doPost(HttpServletRequest request, HttpServletResponse response) {
        String name = request.getParameter("name");
        HttpSession session = request.getSession();
        // ruleid: swarmgate.java.trust-boundary
        session.setAttribute("name", name);
        // ruleid: swarmgate.java.trust-boundary
        request.getSession().setAttribute(name, "seen");
        // ok: swarmgate.java.trust-boundary
        session.setAttribute("visits", Integer.parseInt(request.getParameter("visits")));
        // ok: swarmgate.java.trust-boundary
        session.setAttribute("name", validateName(name));
        // ruleid: swarmgate.java.predictable-random-in-web-code
        int lucky = new Random().nextInt(6);
        // ok: swarmgate.java.predictable-random-in-web-code
        int safe = new SecureRandom().nextInt(6);
        // ruleid: swarmgate.java.predictable-random-in-web-code
        double chance = Math.random();
    }
}
