import type { LeaseRecord } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import type { LazyConnection } from './client/lazy-connection.js'
import { ForeignKeyError, listingFailureOf } from './failure-of.js'
import type { KeySpace } from './key-space.js'

/** How many keys the server looks at for one page. Meanwhile, and while it reads their records, it serves no client. */
const PAGE = 250

/** The records of a page, in the order of the names. */
export type ReadPage = (names: readonly string[]) => Promise<readonly (LeaseRecord | undefined | Error)[]>

/**
 * The records of all names with the prefix. SCAN returns every key that exists throughout the scan, but may return it more
 * than once. Throws the reason of the abort.
 */
export async function* listRecords(
  connection: LazyConnection,
  keys: KeySpace,
  prefix: string,
  readPage: ReadPage,
  call: StoreCall,
): AsyncGenerator<LeaseRecord> {
  const listed = new Set<string>()
  for await (const found of pagesOf(connection, keys.patternOf(prefix), prefix, call)) {
    const names = found.flatMap((key) => {
      const name = keys.nameOf(key)
      if (name === undefined || !name.startsWith(prefix) || listed.has(name)) return []
      listed.add(name)
      return [name]
    })
    for (let from = 0; from < names.length; from += PAGE) {
      for (const record of await readPage(names.slice(from, from + PAGE))) {
        if (record instanceof ForeignKeyError || record === undefined) continue
        if (record instanceof Error) throw record
        yield record
      }
    }
  }
}

async function* pagesOf(
  connection: LazyConnection,
  pattern: string,
  prefix: string,
  call: StoreCall,
): AsyncGenerator<readonly string[]> {
  try {
    const opened = await untilAborted(connection.connect(), call)
    for (const scan of await untilAborted(opened.scans(), call)) {
      let cursor = '0'
      do {
        const page = (await untilAborted(scan(cursor, pattern, PAGE), call)) as [unknown, unknown[]]
        cursor = String(page[0])
        yield page[1].map(String)
      } while (cursor !== '0')
    }
  } catch (error) {
    throw call.aborted ? error : listingFailureOf(prefix, error)
  }
}
