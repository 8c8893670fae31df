import { closeSync, openSync, readSync } from 'node:fs'
import { LeaseConfigurationError } from '@leasehold/core'

const PREFIX = 'leases-'
const SUFFIX = '.mdb'

/** What an lmdb file has behind the header of its first page; the header has grown between formats of lmdb. */
const MAGIC_AT = [16, 24]
const MAGIC = 0xbeefc0de
const LEAST_SIZE = 32

/** One database for each start of the machine: what was left half-written by a power failure is never opened again. */
export function databaseFile(bootId: string): string {
  return `${PREFIX}${encodeURIComponent(bootId)}${SUFFIX}`
}

/** The file whose lock decides who may open, close or write a database. */
export function gateOf(database: string): string {
  return `${database}-gate`
}

/** The boot id of a database file (or of one of its locks), `undefined` of any other file. */
export function bootOfFile(file: string): string | undefined {
  const database = file.replace(/-(lock|gate)$/, '')
  if (!database.startsWith(PREFIX) || !database.endsWith(SUFFIX)) return undefined
  return decodeURIComponent(database.slice(PREFIX.length, -SUFFIX.length))
}

/** Throws unless the file is absent, empty or an lmdb database: lmdb itself would end the process over another file. */
export function checkDatabaseFile(path: string): void {
  const header = Buffer.alloc(LEAST_SIZE)
  const size = readHeader(path, header)
  if (size === 0 || (size === LEAST_SIZE && MAGIC_AT.some((place) => header.readUInt32LE(place) === MAGIC))) return
  throw new LeaseConfigurationError(
    `${path} is not a lease database, or is damaged: stop the processes that use the folder, move the file away, ` +
      'and start them again; or choose another folder',
    { store: 'local' },
  )
}

function readHeader(path: string, header: Buffer): number {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
  try {
    return readSync(file, header)
  } finally {
    closeSync(file)
  }
}
