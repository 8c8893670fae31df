import { basename } from 'node:path'

/** File names without a concept, which collect unrelated code. */
const VAGUE_NAMES = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'types', 'misc', 'shared'])

// Built from parts, so that this file does not match.
const SUPPRESSION = new RegExp(
  ['biome-' + 'ignore', '@ts-' + 'ignore', '@ts-' + 'nocheck', 'eslint-' + 'disable'].join('|'),
)
const EXPECTED_ERROR = new RegExp('@ts-' + 'expect-error')
const TYPE_TEST = /[./\\]types\.test\.ts$/
const MODULE_STATE = /^(?:export )?(?:let|var) /m

/** Where the machine's own time and random numbers are read; all other code takes `clock` and `random` as arguments. */
const OF_THE_MACHINE = /[\\/](?:system-random|machine-clock)\.ts$/
const FROM_THE_MACHINE = /\b(?:Math\.random|Date\.now)\b/

/** Faults of a source file that no lint rule finds, one text for each. */
export function sourceFaults(file: string, text: string): string[] {
  const faults: string[] = []
  if (VAGUE_NAMES.has(basename(file, '.ts'))) faults.push('the file name says nothing about its content')
  if (SUPPRESSION.test(text)) faults.push('a suppressed rule')
  if (EXPECTED_ERROR.test(text) && !TYPE_TEST.test(file)) faults.push('an expected type error outside a type test')
  if (MODULE_STATE.test(text) && /[\\/]src[\\/]/.test(file)) faults.push('mutable state of the module')
  const isPublished = /[\\/]?packages[\\/][^\\/]+[\\/]src[\\/]/.test(file)
  if (isPublished && !OF_THE_MACHINE.test(file) && FROM_THE_MACHINE.test(withoutComments(text))) {
    faults.push('time or random numbers of the machine')
  }
  return faults
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}
