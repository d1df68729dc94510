// What scrolls sideways can be reached with the keyboard in every browser.
for (const part of document.querySelectorAll("pre > code, .table-wrapper")) {
  if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
}
