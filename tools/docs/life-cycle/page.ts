import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../workspaces.js'
import { withPart } from '../page-part.js'
import type { OptionsFile } from '../provider-options.js'
import { lifeCycleDrawing } from './drawing.js'
import { type PhaseChange, phaseChanges } from './walk.js'

const folder = join(root, 'docs', 'internals')

/** The drawing of the life cycle, and the page that shows it, as the transition function has them. */
export function lifeCycleFiles(changes = phaseChanges()): OptionsFile[] {
  const page = join(folder, 'engine.md')
  return [
    { path: join(folder, 'life-cycle.svg'), text: lifeCycleDrawing(changes) },
    { path: page, text: withPart(readFileSync(page, 'utf8'), 'life-cycle', partOf(changes)) },
  ]
}

function partOf(changes: readonly PhaseChange[]): string {
  const rows = changes.map(({ from, to, when }) => `| ${from} | ${to} | ${when.join('; ')} |`)
  return [
    '![The phases of a lease, and what leads from one to another](life-cycle.svg)',
    '',
    '| from | to | when |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}
