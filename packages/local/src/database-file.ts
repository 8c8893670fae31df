const PREFIX = 'leases-'
const SUFFIX = '.mdb'

/**
 * One database for each start of the machine, so that a file that a power failure left half-written is not opened again.
 * Versions on lmdb used the same name: they reject the folder, and do not grant leases in a file of their own.
 */
export function databaseFile(bootId: string): string {
  return `${PREFIX}${encodeURIComponent(bootId)}${SUFFIX}`
}

/** The boot id of a database file, or of a file that belongs to one (`…-lock`, a draft); `undefined` of any other. */
export function bootOfFile(file: string): string | undefined {
  const encoded = /^leases-(.+?)\.mdb(?:-[\w-]+)?$/.exec(file)?.[1]
  return encoded === undefined ? undefined : decodeURIComponent(encoded)
}
