package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// Look checks in a browser that a theme of the Input is on the pages, that its changes roll
// out, and that a redirect leads readers to the new page.
func Look(k *kit) {
	k.needsNode()
	const name = "branded"
	theme := func(banner string) option {
		return k.given("branded", `
theme:
  header.hbs: <div class="banner">`+banner+`</div>
  head.hbs: |
    <style>
    .banner { position: relative; top: var(--menu-bar-height); z-index: 102 }
    .banner { background: #00539f; color: white; padding: 8px 16px }
    html.light { --sidebar-bg: #e6eef6; --links: #00539f }
    </style>
  favicon.svg: |
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#00539f"/></svg>`)
	}
	k.apply(book(name, theme("Example Corp · Internal"), with(`
markdowns:
  SUMMARY.md: "- [Handbook](README.md)\n  - [On call](guide/on-call.md)\n"
  README.md: "# Handbook\n\nHow we run our services.\n"
  guide/on-call.md: "# On call\n\n## Who is next\n"
book:
  title: Handbook
  redirects: {/guide/pager.html: "/guide/on-call.html#who-is-next"}
  repositoryUrl: https://example.com/docs
  editUrlTemplate: "https://example.com/docs/edit/{path}"`)))
	k.settle(name)
	b := k.browser()
	b.open(name, "/guide/pager.html")
	b.until(`location.pathname + location.hash === "/guide/on-call.html#who-is-next" && document.title === "On call - Handbook"`)
	b.until(`document.querySelector("a[href='https://example.com/docs/edit/src/guide/on-call.md']") !== null`)
	b.until(`document.elementFromPoint(600, 8).matches(".banner") && getComputedStyle(document.querySelector(".banner")).backgroundColor === "rgb(0, 83, 159)"`)
	b.until(`fetch(document.querySelector("link[rel=icon]").href).then(r => r.text()).then(t => window.icon = t) && (window.icon || "").includes("#00539f")`)
	b.save("branded")

	theme("Example Corp · Confidential")
	k.servedAt(name, "/", "Confidential")
}

// Search checks in a browser that the recipe in example/search finds words in several
// languages, each on its page and not on the print page.
func Search(k *kit) {
	k.needsNode()
	const name = "search"
	k.apply(book(name, k.recipe("search", "pagefind:1.6.0"), with(`
markdowns:
  SUMMARY.md: |
    - [はじめに](README.md)
    - [接続の上限](limits.md)
    - [レプリケーション](replication.md)
    - [中文](guide/zh.md)
    - [Korean](guide/ko.md)
    - [Queues](queues.md)
  README.md: "# はじめに\n\nこの本は運用の手引きです。\n"
  limits.md: |
    # 接続の上限

    データベースの接続数が上限に達すると、新しい接続は拒否されます。

    ## 対処

    設定を見直してから、アプリケーションを再起動します。
  replication.md: "# レプリケーション\n\n複製の遅れは、監視の画面で確認できます。\n"
  guide/zh.md: "# 故障处理\n\n连接池耗尽时，请先重启服务。\n"
  guide/ko.md: "# 장애 대응\n\n연결이 끊어지면 다시 시작하세요.\n"
  queues.md: "# Queues\n\nThe queue is drained at night.\n"
book: {title: 運用の手引き, language: ja}`)))
	k.settle(name)
	b := k.browser()
	for word, page := range map[string]string{
		"データベース": "/limits.html", "接続数": "/limits.html",
		"连接池": "/guide/zh.html", "연결이": "/guide/ko.html", "drained": "/queues.html",
	} {
		b.open(name, "/replication.html")
		b.until(`(i => i ? (i.focus(), true) : false)(document.querySelector(".pagefind-ui__search-input"))`)
		b.do("Input.insertText", map[string]any{"text": word})
		b.until(fmt.Sprintf(`(l => l.length > 0 && l.every(a => a.pathname === %q))([...document.querySelectorAll(".pagefind-ui__result-link")])`, page))
		if word == "データベース" {
			b.save("search")
		}
		b.ownHost()
		b.click(".pagefind-ui__result-link", "")
		b.until(fmt.Sprintf(`location.pathname === %q && document.querySelector("main").innerText.includes(%q)`, page, word))
	}
	b.open(name, "/print.html")
	b.until(`document.querySelector("main").innerText.includes("接続数")`)
}

// Diagrams checks in a browser that the recipe in example/diagrams draws a diagram, and that
// one which cannot be drawn does not break its page.
func Diagrams(k *kit) {
	k.needsNode()
	const name = "diagrams"
	k.apply(book(name, k.recipe("diagrams", "mermaid:12.3.0"), with(`
markdowns:
  SUMMARY.md: "- [Architecture](README.md)\n- [Broken](guide/broken.md)\n"
  README.md: |
    # Architecture

    Readers reach a book through nginx.

    ~~~mermaid
    graph LR
      Reader --> Gateway --> nginx
      ConfigMap --> mdBook --> nginx
    ~~~
  guide/broken.md: |
    # Broken

    ~~~mermaid
    graph LR; A --x(((
    ~~~

    ~~~mermaid
    sequenceDiagram
      A->>B: Hello
    ~~~

    The end.`)))
	k.settle(name)
	b := k.browser()
	const drawn = `(s => s !== null && s.getBoundingClientRect().width > 100 && s.textContent.includes(%q))(document.querySelector("pre.mermaid svg"))`
	b.open(name, "/")
	b.until(fmt.Sprintf(drawn, "Gateway"))
	b.ownHost()
	b.save("diagram")
	b.open(name, "/guide/broken.html")
	b.until(fmt.Sprintf(drawn, "Hello"))
	b.until(`document.querySelectorAll("svg[id^=diagram]").length === 1`)
	b.until(`document.querySelector(".mermaid-error").previousElementSibling.innerText.includes("A --x(((")`)
	b.until(`document.querySelector("main").innerText.includes("The end.")`)
	b.click(".chapter a", "Architecture")
	b.until(fmt.Sprintf(drawn, "Gateway"))
}

// recipe pushes the image of a folder of example, and returns the option of its Composition.
func (k *kit) recipe(name, image string) option {
	repository, _, _ := strings.Cut(image, ":")
	img, err := controlplane.NewImage(v1.Config{}, map[string]string{".": filepath.Join(k.Bin, "images", repository)})
	k.must(err)
	k.must(k.PushImage(k.Context(), "registry.example.com/books/"+image, img))

	return composedBy(k.example(name))
}

// open opens a page of a book.
func (b *browser) open(name, path string) {
	b.Helper()
	b.do("Page.navigate", map[string]any{"url": b.address(name) + path})
}

// ownHost fails the test if the page has requested anything from another host.
func (b *browser) ownHost() {
	b.Helper()
	others, err := b.evaluate(`performance.getEntriesByType("resource").map(r => r.name).filter(n => new URL(n).origin !== location.origin && !n.startsWith("data:")).join(" ")`)
	b.must(err)
	b.equal("requests to other hosts", "", others)
}

// save writes a screenshot beside the file that E2E_PICTURE names.
func (b *browser) save(name string) {
	b.Helper()
	if file := os.Getenv("E2E_PICTURE"); file != "" {
		b.must(os.WriteFile(filepath.Join(filepath.Dir(file), name+".png"), b.picture(), 0o600))
	}
}
