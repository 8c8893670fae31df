import type { MarkdownParser } from './repository-links.js'

/** A rule for markdown-it. A column without a heading has no heading cell: screen readers would announce an empty one. */
export function leaveOutEmptyHeads(markdown: MarkdownParser): void {
  markdown.core.ruler.push('leave-out-empty-heads', ({ tokens }) => {
    tokens.forEach((token, index) => {
      const [text, end] = [tokens[index + 1], tokens[index + 2]]
      if (token.type !== 'th_open' || text?.content !== '' || end === undefined) return
      token.tag = 'td'
      end.tag = 'td'
    })
  })
}
