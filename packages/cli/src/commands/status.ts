import { type LeaseRecord, readLease } from '@leasehold/core'
import type { Action } from '../command.js'
import type { status } from '../declarations/status.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'

/** Prints the record of each name. */
export const showStatus: Action<typeof status> = async ({ operands, options }, terminal) => {
  const [first = ''] = operands
  const { store, provider } = await openStore(options, first, terminal)
  try {
    const { timeout } = options
    const { clock } = terminal
    const records = await Promise.all(operands.map((name) => readLease(store, name, { timeout, clock })))
    terminal.output.write(`${JSON.stringify(records satisfies (LeaseRecord | undefined)[])}\n`)
  } finally {
    await provider.close()
  }
  return exitCodes.ok
}
