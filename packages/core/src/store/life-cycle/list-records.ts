import type { LeaseRecord } from '../lease-record.js'

/** How many records are read in one turn of the event loop. */
const SLICE = 250

export interface RecordSource {
  /** Called before each slice is read. */
  readonly refresh?: () => void
  /** Called before each record is yielded; throws if the listing must end. */
  readonly check: () => void
  readonly names: () => Iterable<string>
  readonly read: (name: string) => LeaseRecord | undefined
}

/** Yields the records of the names that start with `prefix`, in slices, so that the event loop is not held up. */
export async function* listRecords(
  { refresh, check, names, read }: RecordSource,
  prefix: string,
): AsyncGenerator<LeaseRecord, void, undefined> {
  check()
  refresh?.()
  // A copy: a name that is deleted and created again comes only once.
  const listed = [...names()].filter((name) => name.startsWith(prefix))
  for (let start = 0; start < listed.length; start += SLICE) {
    await new Promise((resolve) => setImmediate(resolve))
    check()
    refresh?.()
    const records = listed.slice(start, start + SLICE).map(read)
    for (const record of records) {
      check()
      if (record !== undefined) yield record
    }
  }
}
