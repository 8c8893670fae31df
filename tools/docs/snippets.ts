import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspaces.js'
import { type CodeBlock, codeBlocks } from './code-block.js'
import { regionOf } from './region.js'

/** The languages whose blocks must come from a file that runs. */
const RUNS = new Set(['ts', 'typescript', 'mts', 'js', 'javascript', 'mjs'])

/** What is wrong with the snippets of a page, one sentence each; none where all are what their sources say. */
export function snippetFaults(page: string): string[] {
  return codeBlocks(page).flatMap((block) => {
    const fault = faultOf(block)
    return fault === undefined ? [] : [`line ${block.start}: ${fault}`]
  })
}

/** The page with every snippet as its source has it. Throws where a source is missing. */
export function withSnippets(page: string): string {
  const lines = page.split('\n')
  // From the last to the first, so that the lines of those before keep their numbers.
  for (const { source, start, end } of codeBlocks(page).reverse()) {
    if (source !== undefined) lines.splice(start, end - start, ...snippet(source).split('\n'))
  }
  return lines.join('\n')
}

function faultOf({ language, source, code }: CodeBlock): string | undefined {
  if (source === undefined) {
    return RUNS.has(language) ? 'code that runs nowhere; name its source: <!-- from: path#region -->' : undefined
  }
  try {
    return snippet(source) === code ? undefined : `not what ${source} says; run "npm run docs:snippets"`
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
