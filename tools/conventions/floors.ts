import { relative } from 'node:path'
import { importedFiles } from './import-cycles.js'

/** A folder of core. */
export interface Room {
  readonly folder: string
  /** In words, for the page on the architecture. */
  readonly content: string
}

/** The floors of core, the highest first. A folder imports only itself and the floors below it. */
export const floors: readonly (readonly Room[])[] = [
  [
    { folder: 'provider', content: '`LeaseProvider`: configuration blocks, loading of `lease-class`, shared stores' },
    { folder: 'memory', content: 'the store in memory' },
    { folder: 'migrate', content: 'leases in two stores, while they move from one to the other' },
  ],
  [
    {
      folder: 'store-lease',
      content: '`StoreLease` and its parts, `createLease`, events, hand-off, the functions on a store',
    },
  ],
  [{ folder: 'parent', content: 'leases under leases; see [The hierarchy of leases](hierarchy.md)' }],
  [{ folder: 'sql-kit', content: 'what the stores in a SQL database share: names, pages, migrations, turns, guards' }],
  [
    { folder: 'engine', content: "the life cycle of one lease on the holder's side; see [The engine](engine.md)" },
    { folder: 'cas', content: '`casStore`: a store over any compare-and-set register' },
    { folder: 'life-cycle', content: 'the life cycle of a record that the stores in memory and in a folder share' },
  ],
  [{ folder: 'objective', content: 'the durations of leases with an `objective`: experience, forecast, choice' }],
  [{ folder: 'store-kit', content: 'the kit for authors of stores: checks, options, requests, waiting' }],
  [{ folder: 'lease', content: 'the contract `Lease`, what `acquire` takes, `lease.run(work)`, factories of leases' }],
  [{ folder: 'settings', content: 'settings of a lease, timeouts, durations, the strategies that plan heartbeats' }],
  [{ folder: 'channels', content: 'the diagnostics channels, and their messages' }],
  [{ folder: 'store', content: 'the interface of stores, and the records, names and metadata that they keep' }],
  [{ folder: 'user-code', content: 'calls of code that a user supplied, which may fail; the logger' }],
  [{ folder: 'http', content: 'what servers of messages and of the page need: bodies with a limit, secrets' }],
  [{ folder: 'time', content: '`Clock`, the system clock, validity, waiting in time' }],
  [{ folder: 'errors', content: 'the errors, one file for each, and the texts in them' }],
]

/** An import that does not lead down, by files relative to the house. */
export interface UpwardImport {
  readonly from: string
  readonly to: string
}

/** The imports among sources, given as text by path, that lead to the same floor or up. The entries, beside the folders, stand above all. */
export function upwardImports(
  folder: string,
  texts: ReadonlyMap<string, string>,
  house: readonly (readonly Room[])[] = floors,
): UpwardImport[] {
  return importsIn(folder, texts).filter(({ from, to }) => {
    const [importing, imported] = [roomOf(from), roomOf(to)]
    return importing !== imported && !(floorOf(house, importing) < floorOf(house, imported))
  })
}

/** The folders that each folder imports, by name; the entries are left out. */
export function importedRooms(folder: string, texts: ReadonlyMap<string, string>): Map<string, Set<string>> {
  const rooms = new Map<string, Set<string>>()
  for (const { from, to } of importsIn(folder, texts)) {
    const room = roomOf(from)
    if (room === '' || room === roomOf(to)) continue
    rooms.set(room, (rooms.get(room) ?? new Set()).add(roomOf(to)))
  }
  return rooms
}

function importsIn(folder: string, texts: ReadonlyMap<string, string>): UpwardImport[] {
  return [...texts.keys()].flatMap((file) =>
    importedFiles(file, texts).map((imported) => ({ from: relative(folder, file), to: relative(folder, imported) })),
  )
}

/** The folder of a file; empty for an entry. */
function roomOf(file: string): string {
  const [room = '', ...rest] = file.split(/[\\/]/)
  return rest.length === 0 ? '' : room
}

/** Counted from the top; `NaN` for a folder that is not in the house, so that each of its imports is reported. */
function floorOf(house: readonly (readonly Room[])[], room: string): number {
  if (room === '') return -1
  const floor = house.findIndex((rooms) => rooms.some(({ folder }) => folder === room))
  return floor === -1 ? Number.NaN : floor
}
