import { basename } from 'node:path'

/** Names that say nothing about what is inside, so that everything ends up there. */
const GRAB_BAGS = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'types', 'misc', 'shared'])

// Put together, so that this file does not fault itself.
const SUPPRESSION = new RegExp(
  ['biome-' + 'ignore', '@ts-' + 'ignore', '@ts-' + 'nocheck', 'eslint-' + 'disable'].join('|'),
)
const EXPECTED_ERROR = new RegExp('@ts-' + 'expect-error')
const TYPE_TEST = /[./\\]types\.test\.ts$/
const MODULE_STATE = /^(?:export )?(?:let|var) /m

/** What the house does not want of a source file and no lint rule sees, one sentence each. */
export function sourceFaults(file: string, text: string): string[] {
  const faults: string[] = []
  if (GRAB_BAGS.has(basename(file, '.ts'))) faults.push('a name that any code would fit under')
  if (SUPPRESSION.test(text)) faults.push('a rule is switched off')
  if (EXPECTED_ERROR.test(text) && !TYPE_TEST.test(file)) faults.push('an expected type error outside a type test')
  if (MODULE_STATE.test(text) && /[\\/]src[\\/]/.test(file)) faults.push('state of the module that can change')
  return faults
}
