import { isLocked, type LeaseRecord, listLeases } from '@leasehold/core'
import type { Action } from '../command-declaration.js'
import type { list } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { writeLeases } from '../lease-table.js'
import { openStore } from '../store-selection.js'

/** Prints the records of all names with the prefix, sorted by name. */
export const listAll: Action<typeof list> = async ({ operands, options }, terminal) => {
  const [prefix = ''] = operands
  const { timeout, held, output } = options
  await using opened = await openStore(options, prefix || 'list', terminal)
  const records: LeaseRecord[] = []
  for await (const record of listLeases(opened.store, prefix, { timeout, clock: terminal.clock })) {
    if (held !== true || isLocked(record)) records.push(record)
  }
  records.sort((one, other) => (one.name < other.name ? -1 : 1))
  const leases = records.map((record) => [record.name, record] as const)
  writeLeases(terminal, output, leases)
  return exitCodes.ok
}
