/** Text of the model is prose and nothing else: no HTML, no address that loads or leads anywhere (security 3.12). */
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";

import { GrowingBlocks, splitBlocks } from "./blocks";
import { OpenLink } from "./inert";
import { Markdown } from "./markdown";

function html(source: string): string {
  return render(<Markdown source={source} />).container.innerHTML;
}

it("renders the usual marks", () => {
  expect(html("A **b** *c* ~~d~~ `e`")).toContain("<p>A <strong>b</strong> <em>c</em> <s>d</s> <code>e</code></p>");
  expect(html("- a\n- b")).toContain("<ul><li>a</li><li>b</li></ul>");
  expect(html("3. a\n4. b")).toContain('<ol start="3"><li>a</li><li>b</li></ol>');
  expect(html("# T")).toContain("<h3>T</h3>");
  expect(html("> q\n> r")).toContain("<blockquote><p>q\n");
  expect(html("| a | b |\n|---|---|\n| 1 | **2** |")).toContain("<td>1</td><td><strong>2</strong></td>");
  expect(html("a \\* b &amp; c &lt;")).toContain("a * b &amp; c &lt;");
  expect(html("```rust\nfn a() {}\n```")).toContain("fn a() {}");
});

it.each([
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  '<a href="javascript:alert(1)">x</a>',
  "![x](https://example.org/t.png?secret)",
  "[x](javascript:alert(1))",
  "[x](data:text/html,hi)",
  "<https://example.org>",
  "https://example.org/path",
  '<iframe src="https://example.org"></iframe>',
  "<style>*{display:none}</style>",
  '<div style="position:fixed">x</div>',
  "[a]: https://example.org\n\n[a]",
])("makes no element that loads or leads anywhere of %s", (source) => {
  const { container } = render(<Markdown source={source} />);
  expect(container.querySelector("a, img, script, iframe, style, object, embed, link, form, input, video, audio, svg image")).toBeNull();
  const names = [...container.querySelectorAll("*")].flatMap((element) => element.getAttributeNames());
  expect(names.filter((name) => /^(?:href|src|srcset|style|on\w+)$/.test(name))).toEqual([]);
});

it("hands a pressed link to its owner", async () => {
  const open = vi.fn();
  render(
    <OpenLink.Provider value={open}>
      <Markdown source="See [the notes](https://example.org/n)." />
    </OpenLink.Provider>,
  );
  await userEvent.click(screen.getByRole("button", { name: "the notes" }));
  expect(open).toHaveBeenCalledWith("https://example.org/n");
});

it("names a picture that is not loaded", () => {
  render(<Markdown source="![a chart](https://example.org/c.png)" />);
  expect(screen.getByText("Picture not loaded: a chart")).toBeTruthy();
});

it("gives the same blocks whether text comes at once or letter by letter", () => {
  const source = "# A\n\nOne **two**\nthree\n\n- a\n- b\n\n```js\nlet x\n\nlet y\n```\n\n| a |\n|---|\n| 1 |\n\nEnd";
  const growing = new GrowingBlocks();
  let last = growing.update("");
  for (let end = 1; end <= source.length; end += 1) last = growing.update(source.slice(0, end));
  expect(last).toEqual(splitBlocks(source));
});

it("parses only the end of what streams", () => {
  const growing = new GrowingBlocks();
  const first = growing.update("One\n\nTwo\n\nThr");
  const second = growing.update("One\n\nTwo\n\nThree");
  expect(second[0]).toBe(first[0]);
  expect(second[1]).toBe(first[1]);
  expect(second[2]?.source).toBe("Three");
});
