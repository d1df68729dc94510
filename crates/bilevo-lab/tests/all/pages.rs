//! What every page must be.

#[cfg(unix)]
use crate::cdp::Browser;
#[cfg(unix)]
use serde_json::json;

/// Every opening tag is closed in order; void elements and the text of scripts left aside.
pub(crate) fn assert_well_formed(html: &str) {
    const VOID: [&str; 5] = ["meta", "link", "input", "br", "!DOCTYPE"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()));
        } else if !VOID.contains(&name.as_str()) && !tag.ends_with('/') {
            if name == "script" || name == "style" {
                rest = &rest[rest.find(&format!("</{name}")).unwrap()..];
            }
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Everything has a name for screen readers, every name is there, and no two elements share one.
#[cfg(unix)]
pub(crate) fn assert_labelled(browser: &mut Browser) {
    let unlabelled = "[...document.querySelectorAll('input, svg, table, section, nav')].filter(e => !(e.closest('label') || e.getAttribute('aria-labelledby') || e.getAttribute('aria-label') || e.caption)).length";
    assert_eq!(browser.eval(unlabelled), 0);
    let dangling = "[...document.querySelectorAll('[aria-labelledby]')].flatMap(e => e.getAttribute('aria-labelledby').split(' ')).filter(id => !document.getElementById(id)).length";
    assert_eq!(browser.eval(dangling), 0);
    let ids = "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.length - new Set(ids).size; })()";
    assert_eq!(browser.eval(ids), 0);
}

/// For those who hear the page: one main part, headings that skip no level, a scope for every head of a table, and
/// words for every picture.
#[cfg(unix)]
pub(crate) fn assert_spoken(browser: &mut Browser) {
    assert_eq!(
        browser.eval("[document.documentElement.lang, document.querySelectorAll('main').length]"),
        json!(["en", 1])
    );
    let levels = "[...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))";
    let levels: Vec<u64> = serde_json::from_value(browser.eval(levels)).unwrap();
    assert!(levels[0] == 1 && levels.windows(2).all(|pair| pair[1] > 1 && pair[1] <= pair[0] + 1), "{levels:?}");
    assert_eq!(browser.eval("document.querySelectorAll('th:not([scope])').length"), 0);
    let silent = "[...document.querySelectorAll('svg')].filter(s => s.getAttribute('role') !== 'img' || !s.querySelector('title').textContent || s.querySelector('desc').textContent.length < 20).length";
    assert_eq!(browser.eval(silent), 0);
}

/// Every visible text differs from its background by a ratio of at least 4.5, as WCAG 2 asks for.
#[cfg(unix)]
pub(crate) fn assert_contrast(browser: &mut Browser) {
    let faint = r"(() => {
        const parse = c => c.match(/[0-9.]+/g).map(Number);
        const light = c => { const [r, g, b] = parse(c).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const solid = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (parse(c)[3] !== 0) return c; } return 'rgb(255, 255, 255)'; };
        const below = e => { const svg = e.closest('svg'); return svg ? getComputedStyle(svg.querySelector('.paper')).fill : solid(e); };
        const faint = new Set();
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const e = walker.currentNode.parentElement;
            if (!walker.currentNode.data.trim() || e.closest('script, style, title, desc')) continue;
            const style = getComputedStyle(e);
            const [a, b] = [light(e.closest('svg') ? style.fill : style.color), light(below(e))];
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) faint.add(ratio.toFixed(2) + ' ' + walker.currentNode.data.trim().slice(0, 40));
        }
        return [...faint];
    })()";
    assert_eq!(browser.eval(faint), json!([]));
}

/// Nothing is wider than the window, but for what scrolls by itself.
#[cfg(unix)]
pub(crate) fn assert_fits(browser: &mut Browser, width: u64) {
    assert_eq!(browser.eval("document.documentElement.scrollWidth"), width);
    let wide = format!(
        "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, svg, .skip') && e.getBoundingClientRect().right > {width}.5).map(e => e.outerHTML.slice(0, 80))"
    );
    assert_eq!(browser.eval(&wide), json!([]));
}

/// No two texts of a picture overlap.
#[cfg(unix)]
pub(crate) fn assert_texts_apart(browser: &mut Browser) {
    let overlaps = "[...document.querySelectorAll('svg')].flatMap(svg => { const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]); return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([, q]) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 4 && q.top < p.bottom - 4).map(([b]) => a + ' / ' + b)); })";
    assert_eq!(browser.eval(overlaps), json!([]));
}

/// No text of a picture leaves it.
#[cfg(unix)]
pub(crate) fn assert_texts_inside(browser: &mut Browser) {
    let outside = "[...document.querySelectorAll('svg text')].filter(t => { const [a, b] = [t.getBoundingClientRect(), t.closest('svg').getBoundingClientRect()]; return a.width > 0 && (a.left < b.left - 1 || a.right > b.right + 1); }).map(t => t.textContent)";
    assert_eq!(browser.eval(outside), json!([]));
}

/// How bright a colour is.
#[cfg(unix)]
pub(crate) fn luminance(browser: &mut Browser, colour: &str) -> f64 {
    let of =
        "(c => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number); return 0.2126 * r + 0.7152 * g + 0.0722 * b; })";
    browser.eval(&format!("{of}({colour})")).as_f64().unwrap()
}
