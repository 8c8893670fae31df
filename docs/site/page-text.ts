import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { proseOf } from '../../tools/docs/code-block.js'
import { root } from '../../tools/workspaces.js'

const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/
const COMMENT = /^[ \t]*<!--[\s\S]*?-->[ \t]*\n?/gm
const FENCE = /^\s*```.*$/gm
/** No heading, list, table, quotation or HTML. */
const PARAGRAPH = /^\s*(?:\*\*|[\p{L}\p{N}`_[("'“@])/u

/** The text of a page for programs: without what only builds it. */
export function plainPage(source: string): string {
  return source.replace(FRONT_MATTER, '').replaceAll(COMMENT, '').trim()
}

/** The first sentence of a page below its title, as plain text; an empty text if the page has no paragraph. */
export function firstSentence(source: string): string {
  const prose = proseOf(plainPage(source)).replaceAll(FENCE, '')
  const paragraph = prose.split(/\n\s*\n/).find((block) => PARAGRAPH.test(block)) ?? ''
  const text = withoutMarks(paragraph.replaceAll(/\s+/g, ' '))
  // A sentence ends before a space: not in a name such as `index.ts`.
  return /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.replace(/:$/, '.')
}

/** What search engines and lists show of a page, by its path relative to `docs/`. */
export function pageDescription(page: string): string {
  return firstSentence(readFileSync(join(root, 'docs', page), 'utf8'))
}

function withoutMarks(text: string): string {
  return text
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .trim()
}
