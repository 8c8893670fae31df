import type { Action } from '../command-declaration.js'
import type { migrate } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { writeJSON } from '../terminal.js'

/** Creates what a store keeps its leases in: for a store that has a method `migrate`. */
export const migrateStore: Action<typeof migrate> = async ({ options }, terminal) => {
  await using opened = await openStore(options, 'migrate', terminal)
  const { store } = opened
  const { kind = 'custom' } = store
  const isSetUp = 'migrate' in store && typeof store.migrate === 'function'
  if (isSetUp) await (store.migrate as () => Promise<void>)()
  if (options.output === 'json') writeJSON(terminal, { store: kind, migrated: isSetUp })
  else terminal.output.write(isSetUp ? `the ${kind} store is set up\n` : `the ${kind} store needs no setup\n`)
  return exitCodes.ok
}
