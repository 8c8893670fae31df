import { useEffect, useState } from 'preact/hooks'
import type { LeaseDetail } from '../../src/protocol.js'
import { RequestError } from '../api/api.js'
import { createEntry, type Entry } from '../list/entry.js'
import { usePageOn } from '../shell/page-context.js'

export interface Lease {
  readonly entry: Entry
  readonly detail: LeaseDetail
}

export interface LeaseReading {
  /** As read last; `undefined` until the first answer. */
  readonly lease: Lease | undefined
  readonly error: RequestError | undefined
  /** Reads it again, and returns what it is now. */
  readonly read: () => Promise<LeaseDetail | undefined>
}

/** One lease with all that the list does not have. It is read again whenever its row changes; heartbeats come with the list. */
export function useLeaseDetail(name: string): LeaseReading {
  const { state, api } = usePageOn('leases', 'status')
  const [lease, setLease] = useState<Lease | undefined>(undefined)
  const [error, setError] = useState<RequestError | undefined>(undefined)
  const listed = state.listing.get(name)
  const isLive = state.status.kind === 'live'
  const read = async () => {
    try {
      const detail = await api.lease(name)
      setLease({ detail, entry: createEntry(detail.row, state.clock.now()) })
      setError(undefined)
      return detail
    } catch (cause) {
      if (!(cause instanceof RequestError)) throw cause
      setError(cause)
      // The lease is gone: the page must not show it as if it still existed.
      if (cause.status === 404) setLease(undefined)
      return undefined
    }
  }
  useEffect(() => {
    if (isLive) void read()
  }, [name, listed?.row, isLive])
  const isSameGrant = lease !== undefined && listed !== undefined && listed.row.token === lease.entry.row.token
  // The countdown of the list has heard of the last heartbeats.
  return {
    lease: lease && isSameGrant ? { ...lease, entry: { ...lease.entry, validUntil: listed.validUntil } } : lease,
    error,
    read,
  }
}
