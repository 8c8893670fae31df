import { API_FOLDER } from './api-folder.js'

/** Raises a page in the results, or lowers it. The browser gets the text of this function: it uses nothing from outside. */
export function boostDocument(id: string): number {
  // Many declarations have the word that a guide explains.
  return id.includes('/reference/api/') ? 0.2 : 1
}

/** The part of a page that the search knows: of a page of the API the names and its first sentences. */
export function searchedPart(source: string, relativePath: string): string {
  if (!relativePath.startsWith(`${API_FOLDER}/`)) return source
  const [introduction = '', ...parts] = source.split(/^## /m)
  const names = parts.flatMap((part) => part.match(/^### .+$/gm) ?? [])
  return [introduction.replaceAll(/^```[\s\S]*?^```|^Defined in:.*$|^\[API\].*$/gm, ''), ...names].join('\n\n')
}

/** The part of markdown-it that is used here. */
interface MarkdownRenderer {
  readonly options: { highlight?: unknown }
  render(source: string, env: object): string
}

/** The page as the search reads it: its code needs no colours, which take most of the time. */
export function searchedHtml(
  markdown: MarkdownRenderer,
  source: string,
  env: { readonly relativePath: string },
): string {
  const { highlight } = markdown.options
  // The pages are made by the same renderer.
  markdown.options.highlight = null
  try {
    return markdown.render(searchedPart(source, env.relativePath), env)
  } finally {
    markdown.options.highlight = highlight
  }
}
