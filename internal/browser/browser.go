// Package browser lets tests look at pages in a headless Chromium.
//
// A reader must know one type: Page, a page that is open, and what its console said.
package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Page is an open page. It closes when its test ends.
type Page struct {
	t    testing.TB
	ctx  context.Context
	mu   sync.Mutex
	said []string
}

// find returns the path of a Chromium, or skips the test and says how to get one.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	t.Skip("no browser: the pages are not tried in one. Install it by: apt-get install -y chromium")
	return ""
}

// Open shows an address in a window of the given size.
func Open(t testing.TB, width, height int64, address string) *Page {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(find(t)), chromedp.NoSandbox,
		chromedp.DisableGPU)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute) // of a stuck browser; nothing is timed
	t.Cleanup(cancel)
	p := &Page{t: t, ctx: ctx}
	p.Do(chromedp.EmulateViewport(width, height))
	console := chromedp.Console(ctx)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			if strings.Contains(m.Text, "willReadFrequently") {
				continue // advice about tests that look at the pixels of a canvas
			}
			p.mu.Lock()
			p.said = append(p.said, m.String())
			p.mu.Unlock()
		}
	}()
	p.Do(chromedp.Navigate(address))
	return p
}

// Do acts on the page, which must succeed.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("%v; the console says %q", err, p.said)
	}
}

// Eval evaluates a JavaScript expression.
func Eval[T any](p *Page, expr string) T {
	p.t.Helper()
	x, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expr))
	if err != nil {
		p.t.Fatalf("%s: %v", expr, err)
	}
	return x
}

// Until waits until an expression is true. An expression that cannot be evaluated is not true yet: the page may be
// giving way to another one.
func (p *Page) Until(expr string) {
	p.t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		is, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+expr+")"))
		if err == nil && is {
			return
		}
		if p.ctx.Err() != nil || time.Since(begun) > time.Minute {
			p.t.Fatalf("%s never comes true (%v); the page says\n%s", expr, err,
				Eval[string](p, "document.body.innerText"))
		}
	}
}

// Silent fails the test if the console has a message.
func (p *Page) Silent() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) > 0 {
		p.t.Errorf("the console says %q", p.said)
	}
}

// Shot writes the visible part of the page to a PNG file; "": no file.
func (p *Page) Shot(file string) { p.shot(file, chromedp.CaptureScreenshot()) }

// FullShot writes the whole page.
func (p *Page) FullShot(file string) { p.shot(file, chromedp.FullScreenshot(100)) }

func (p *Page) shot(file string, take chromedp.Action[[]byte]) {
	p.t.Helper()
	if file == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, take)
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
