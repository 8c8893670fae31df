import { releaseLease } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import type { Action } from '../command-declaration.js'
import type { release } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { writeJSON } from '../terminal.js'
import { UsageError } from '../usage-error.js'

export const releaseOne: Action<typeof release> = async ({ operands, options }, terminal) => {
  const [name = ''] = operands
  const { grant: grantId, timeout, output } = options
  if (grantId === undefined) {
    throw new UsageError(`--grant ID is required: leasehold status ${shownText(name)} -o json shows the grant in force`)
  }
  await using opened = await openStore(options, name, terminal)
  const released = await releaseLease(opened.store, name, { grantId, timeout, clock: terminal.clock })
  if (output === 'json') writeJSON(terminal, { name, grantId, released })
  else if (released) terminal.output.write(`${shownText(name)} is released\n`)
  if (released) return exitCodes.ok
  terminal.errors.write(`leasehold: that grant of '${shownText(name)}' is not in force: nothing was changed\n`)
  return exitCodes.no
}
