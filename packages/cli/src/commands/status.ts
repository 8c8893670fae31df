import { readLease } from '@leasehold/core'
import type { Action } from '../command-declaration.js'
import type { status } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { writeLeases } from '../lease-table.js'
import { openStore } from '../store-selection.js'

/** Prints the record of each name, in the order of the names given. */
export const showStatus: Action<typeof status> = async ({ operands, options }, terminal) => {
  const [first = ''] = operands
  const { timeout, output } = options
  const { clock } = terminal
  await using opened = await openStore(options, first, terminal)
  const { store } = opened
  const records = await Promise.all(operands.map((name) => readLease(store, name, { timeout, clock })))
  const leases = operands.map((name, place) => [name, records[place]] as const)
  writeLeases(terminal, output, leases)
  return exitCodes.ok
}
