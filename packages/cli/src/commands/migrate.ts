import type { Action } from '../command-declaration.js'
import type { migrate } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { writeJSON } from '../terminal.js'

/** Creates the tables of a store that has a method `migrate`. */
export const migrateStore: Action<typeof migrate> = async ({ options }, terminal) => {
  await using opened = await openStore(options, 'migrate', terminal)
  const { store } = opened
  const { kind = 'custom' } = store
  const hasTables = 'migrate' in store && typeof store.migrate === 'function'
  if (hasTables) await (store.migrate as () => Promise<void>)()
  if (options.output === 'json') writeJSON(terminal, { store: kind, migrated: hasTables })
  else terminal.output.write(hasTables ? 'the tables are up to date\n' : `the ${kind} store needs no tables\n`)
  return exitCodes.ok
}
