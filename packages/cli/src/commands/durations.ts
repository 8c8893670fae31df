import { durations } from '@leasehold/core'
import type { Action } from '../command.js'
import type { durations as declaration } from '../declarations.js'
import { durationText } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { writeTable } from '../table.js'
import { writeJSON } from '../terminal.js'
import { renewalOf, usualDurations } from '../usual-durations.js'

export const printDurations: Action<typeof declaration> = async ({ options }, terminal) => {
  if (options.output === 'json') {
    writeJSON(
      terminal,
      usualDurations.map((usual) => ({ ...usual, settings: durations[usual.name] })),
    )
    return exitCodes.ok
  }
  const rows = usualDurations.map(({ name, use, shortest, longest, why }) => [
    name,
    use,
    durationText(durations[name].heartbeatTimeout),
    `${durationText(shortest)} to ${durationText(longest)}`,
    renewalOf(name),
    why,
  ])
  writeTable(terminal, ['NAME', 'USE', 'TTL', 'USUAL TTL', 'RENEWED', 'WHY'], rows)
  return exitCodes.ok
}
