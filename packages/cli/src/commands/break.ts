import { createInterface } from 'node:readline/promises'
import { breakLease, isLocked, type LeaseRecord, readLease } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import type { Action } from '../command-declaration.js'
import type { breakCommand } from '../declarations.js'
import { durationText, instantText } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { type Terminal, writeJSON } from '../terminal.js'
import { UsageError } from '../usage-error.js'

/** Ends the grant that is in force when the command reads the record, and no later one. */
export const breakOne: Action<typeof breakCommand> = async ({ operands, options }, terminal) => {
  const [name = ''] = operands
  const { timeout, period, reason, yes, output } = options
  const { input, errors, clock } = terminal
  if (yes !== true && input.isTTY !== true) {
    throw new UsageError('there is no terminal to ask on: add --yes to break the lease without a question')
  }
  await using opened = await openStore(options, name, terminal)
  const record = await readLease(opened.store, name, { timeout, clock })
  if (!isLocked(record)) {
    errors.write(`leasehold: nobody holds '${shownText(name)}': there is nothing to break\n`)
    return exitCodes.no
  }
  if (yes !== true && !(await isConfirmed(questionOf(record), terminal))) {
    errors.write('leasehold: nothing was changed\n')
    return exitCodes.no
  }
  const { grantId } = record
  // A store that does not know the holder has no id of its grant.
  const only = grantId === '' ? {} : { grantId }
  const breaking = {
    ...(period === undefined ? {} : { period }),
    ...(reason === undefined ? {} : { reason }),
    ...only,
  }
  const { remaining } = await breakLease(opened.store, name, { ...breaking, timeout, clock })
  if (output === 'json') writeJSON(terminal, { name, owner: record.owner, ...only, remaining })
  else
    terminal.output.write(
      `${shownText(name)} is broken, and free ${remaining > 0 ? `in ${durationText(remaining)}` : 'now'}\n`,
    )
  return exitCodes.ok
}

function questionOf({ name, owner, grantedAt, fencingToken }: LeaseRecord): string {
  const since = grantedAt === undefined ? '' : ` since ${instantText(grantedAt)}`
  return shownText(`'${name}' is held by ${owner || 'an unknown owner'}${since}, token ${fencingToken}. Break it?`)
}

/** Asks on the terminal. Resolves with `true` only for `y` or `yes`; the end of the input is a no. */
async function isConfirmed(question: string, { input, errors }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output: errors, terminal: false })
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return /^y(es)?$/i.test((await Promise.race([lines.question(`${question} [y/N] `), ended])).trim())
  } finally {
    lines.close()
  }
}
