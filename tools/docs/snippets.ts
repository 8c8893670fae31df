import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspaces.js'
import { type CodeBlock, codeBlocks, sourcesWithoutBlock } from './code-block.js'
import { regionOf } from './region.js'

/** The languages whose blocks need a source. */
const SOURCED = new Set(['ts', 'typescript', 'mts', 'js', 'javascript', 'mjs'])

/** The faults of the snippets of a page, one text for each. */
export function snippetFaults(page: string): string[] {
  const lonely = sourcesWithoutBlock(page).map(
    ({ source, line }) => `line ${line}: ${source} has no code block below it`,
  )
  const faults = codeBlocks(page).flatMap((block) => {
    const fault = faultOf(block)
    return fault === undefined ? [] : [`line ${block.start}: ${fault}`]
  })
  return [...lonely, ...faults]
}

/** The page with every snippet replaced by its source. Throws if a source is missing. */
export function withSnippets(page: string): string {
  const lines = page.split('\n')
  // From the last block to the first, so that the line numbers of earlier blocks stay valid.
  for (const { source, start, end } of codeBlocks(page).reverse()) {
    if (source !== undefined) lines.splice(start, end - start, ...snippet(source).split('\n'))
  }
  return lines.join('\n')
}

function faultOf({ language, source, code }: CodeBlock): string | undefined {
  if (source === undefined) {
    return SOURCED.has(language) ? 'the code has no source; add <!-- from: path#region -->' : undefined
  }
  if (/\.[cm]?[jt]s(#|$)/.test(source) && !SOURCED.has(language)) return `${source} is no ${language || 'text'}`
  try {
    return snippet(source) === code ? undefined : `differs from ${source}; run "npm run docs:update"`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function snippet(source: string): string {
  const [path = '', region] = source.split('#')
  const file = join(root, path)
  if (!existsSync(file)) throw new Error(`${source}: no such file`)
  try {
    return regionOf(readFileSync(file, 'utf8'), region)
  } catch (error) {
    throw new Error(`${source}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}
