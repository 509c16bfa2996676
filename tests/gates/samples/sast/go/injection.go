package shop

import (
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/antchfx/xmlquery"
	"github.com/gin-gonic/gin"
	"github.com/go-ldap/ldap/v3"
	"github.com/gorilla/mux"
	"gorm.io/gorm"
)

type Server struct {
	db      *sql.DB
	orm     *gorm.DB
	uploads string
	pages   *template.Template
}

type Filter struct {
	Column string `json:"column"`
	Limit  int    `json:"limit"`
}

func (s *Server) order(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	query := fmt.Sprintf("SELECT total FROM orders WHERE id = '%s'", id)
	// ruleid: swarmgate.go.sql-injection
	rows, err := s.db.Query(query)
	if err != nil {
		http.Error(w, "cannot read", http.StatusInternalServerError)
		return
	}
	defer rows.Close()

	// ok: swarmgate.go.sql-injection
	_ = s.db.QueryRow("SELECT total FROM orders WHERE id = $1", id)

	number, err := strconv.Atoi(mux.Vars(r)["number"])
	if err != nil {
		return
	}
	// ok: swarmgate.go.sql-injection
	_, _ = s.db.ExecContext(r.Context(), "UPDATE orders SET seen = 1 WHERE id = "+strconv.Itoa(number))

	var filter Filter
	if err := json.NewDecoder(r.Body).Decode(&filter); err != nil {
		return
	}
	// ruleid: swarmgate.go.sql-injection, swarmgate.go.sql-built-from-strings
	_, _ = s.db.QueryContext(r.Context(), "SELECT id FROM orders ORDER BY "+filter.Column)
}

func (s *Server) find(c *gin.Context) {
	name := c.Query("name")
	var found []Filter
	// ruleid: swarmgate.go.sql-injection
	s.orm.Where("name = '" + name + "'").Find(&found)
	// ok: swarmgate.go.sql-injection
	s.orm.Where("name = ?", name).Find(&found)
	c.JSON(http.StatusOK, found)
}

func (s *Server) count(table string, tenant string) (int, error) {
	var total int
	// ruleid: swarmgate.go.sql-built-from-strings
	row := s.db.QueryRow(fmt.Sprintf("SELECT count(*) FROM %s WHERE tenant = 1", table))
	// ruleid: swarmgate.go.sql-built-from-strings
	_, _ = s.db.Exec("DELETE FROM carts WHERE tenant = '" + tenant + "'")
	// ok: swarmgate.go.sql-built-from-strings
	_, _ = s.db.Exec("DELETE FROM carts "+"WHERE tenant = $1", tenant)
	// ok: swarmgate.go.sql-built-from-strings
	_, _ = s.db.Exec("INSERT INTO log (line) VALUES ($1)", fmt.Sprintf("count of %s", table))
	return total, row.Scan(&total)
}

func (s *Server) convert(w http.ResponseWriter, r *http.Request) {
	format := r.FormValue("format")
	// ruleid: swarmgate.go.command-injection
	out, err := exec.CommandContext(r.Context(), "sh", "-c", "convert in.png out."+format).Output()
	if err != nil {
		return
	}
	tool := r.Header.Get("X-Tool")
	// ruleid: swarmgate.go.command-injection
	_ = exec.Command(tool, "--version").Run()
	// ok: swarmgate.go.command-injection
	_ = exec.Command("convert", "in.png", format).Run()
	_ = out
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("file")
	// ruleid: swarmgate.go.path-traversal
	data, err := os.ReadFile(filepath.Join(s.uploads, name))
	if err != nil {
		return
	}
	// ok: swarmgate.go.path-traversal
	_, _ = os.ReadFile(filepath.Join(s.uploads, filepath.Base(name)))
	// ok: swarmgate.go.response-write-unescaped
	w.Write(data[:4])
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !filepath.IsLocal(name) {
		http.Error(w, "bad name", http.StatusBadRequest)
		return
	}
	// ok: swarmgate.go.path-traversal
	_ = os.Remove(filepath.Join(s.uploads, name))
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	target := filepath.Join(s.uploads, r.PathValue("name"))
	if !strings.HasPrefix(target, s.uploads+"/") {
		http.NotFound(w, r)
		return
	}
	// ok: swarmgate.go.path-traversal
	_, _ = os.Open(target)
}

func (s *Server) preview(w http.ResponseWriter, r *http.Request) {
	address := r.FormValue("url")
	// ruleid: swarmgate.go.ssrf
	resp, err := http.Get(address)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	// ok: swarmgate.go.ssrf
	_, _ = http.Get("https://thumbs.internal/v1?source=" + url.QueryEscape(address))
	// ruleid: swarmgate.go.ssrf
	req, _ := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+r.FormValue("host")+"/status", nil)
	_ = req
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	next := r.URL.Query().Get("next")
	// ruleid: swarmgate.go.open-redirect
	http.Redirect(w, r, next, http.StatusFound)
	// ok: swarmgate.go.open-redirect
	http.Redirect(w, r, "/login?next="+url.QueryEscape(next), http.StatusFound)
}

func (s *Server) greet(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	// ruleid: swarmgate.go.template-escape-bypass
	_ = s.pages.ExecuteTemplate(w, "hello", template.HTML("<b>"+name+"</b>"))
	// ok: swarmgate.go.template-escape-bypass
	_ = s.pages.ExecuteTemplate(w, "hello", template.HTML("<b>hello</b>"))
	// ruleid: swarmgate.go.response-write-unescaped
	fmt.Fprintf(w, "<h1>Hello %s</h1>", name)
	// ok: swarmgate.go.response-write-unescaped
	fmt.Fprintf(w, "<h1>Hello %s</h1>", html.EscapeString(name))
	// ruleid: swarmgate.go.response-write-unescaped
	io.WriteString(w, "<p>"+name)
}

func (s *Server) render(w http.ResponseWriter, r *http.Request) {
	// ruleid: swarmgate.go.template-source-from-request
	page, err := template.New("page").Parse(r.FormValue("body"))
	if err != nil {
		return
	}
	// ok: swarmgate.go.template-source-from-request
	fixed := template.Must(template.New("fixed").Parse("<p>{{.}}</p>"))
	_ = fixed.Execute(w, r.FormValue("body"))
	_ = page.Execute(w, nil)
}

func lookUp(conn *ldap.Conn, r *http.Request) *ldap.SearchRequest {
	user := r.FormValue("user")
	safe := ldap.EscapeFilter(user)
	// ok: swarmgate.go.ldap-injection
	_ = ldap.NewSearchRequest("dc=shop", 2, 0, 1, 5, false, "(uid="+safe+")", nil, nil)
	// ruleid: swarmgate.go.ldap-injection
	return ldap.NewSearchRequest("dc=shop", 2, 0, 1, 5, false, "(uid="+user+")", nil, nil)
}

func price(doc *xmlquery.Node, r *http.Request) *xmlquery.Node {
	// ok: swarmgate.go.xpath-injection
	_ = xmlquery.Find(doc, "//item/price")
	// ruleid: swarmgate.go.xpath-injection
	return xmlquery.FindOne(doc, "//item[@name='"+r.FormValue("name")+"']/price")
}

func listing(folder string, depth int) ([]byte, error) {
	command := fmt.Sprintf("ls -l %s", folder)
	// ruleid: swarmgate.go.shell-command-built
	out, err := exec.Command("sh", "-c", command).Output()
	if err != nil {
		// ok: swarmgate.go.shell-command-built
		return exec.Command("ls", "-l", folder).Output()
	}
	// ok: swarmgate.go.shell-command-built
	_ = exec.Command("sh", "-c", fmt.Sprintf("find . -maxdepth %d", depth)).Run()
	// ok: swarmgate.go.shell-command-built
	_ = exec.Command("sh", "-c", "ls "+shellquote.Join(folder)).Run()
	return out, err
}

func home(target *url.URL, domain string) bool {
	// ruleid: swarmgate.go.host-compared-by-part
	if strings.Contains(target.Host, domain) {
		return true
	}
	// ok: swarmgate.go.host-compared-by-part
	if strings.HasSuffix(target.Host, "."+domain) {
		return true
	}
	// ok: swarmgate.go.host-compared-by-part
	if strings.Contains(target.Host, ":") {
		return false
	}
	return target.Hostname() == domain
}

func greeting(name string, visits int) string {
	// ruleid: swarmgate.go.page-built
	page := fmt.Sprintf("<html><body>Hello %s</body></html>", name)
	// ok: swarmgate.go.page-built
	page += fmt.Sprintf("<h1>Hello %s, %d</h1>", html.EscapeString(name), visits)
	return page
}

func named(document *xmlquery.Node, name string) []*xmlquery.Node {
	// ruleid: swarmgate.go.xpath-built
	found := xmlquery.Find(document, fmt.Sprintf("//user[name='%s']", name))
	// ok: swarmgate.go.xpath-built
	return append(found, xmlquery.Find(document, "//user[@active]")...)
}
