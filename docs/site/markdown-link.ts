/** The part of markdown-it that is used here. */
interface MarkdownRenderer {
  render(source: string, env?: { readonly relativePath?: string }): string
}

/** Ends each page with links to its Markdown version and to the list for programs. */
export function linkToMarkdown(markdown: MarkdownRenderer, base: string): void {
  const render = markdown.render.bind(markdown)
  // Files beside the pages, not pages: the browser loads them, not the router.
  const link = (file: string, text: string) => `<a href="${base}${file}" target="_self">${text}</a>`
  markdown.render = (source, env) => {
    const html = render(source, env)
    if (env?.relativePath === undefined) return html
    const links = [link(env.relativePath, 'This page as Markdown'), link('llms.txt', 'all pages for programs')]
    return `${html}<p class="markdown-links">${links.join(' · ')}</p>\n`
  }
}
