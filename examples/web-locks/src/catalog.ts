// #region catalog
import type { LockManager } from '@leasehold/recipes'

/** One imports at a time, and nobody reads meanwhile. The signal and the token are those of the lease. */
export function catalogOf(locks: LockManager) {
  return {
    import: (work: (signal: AbortSignal, token: bigint) => Promise<void>) =>
      // Send the token with each write, and let the data reject a smaller one.
      locks.request('catalog', ({ signal, fencingToken }) => work(signal, fencingToken)),

    read: <T>(work: () => Promise<T>, signal: AbortSignal) =>
      locks.request('catalog', { mode: 'shared', signal }, () => work()),
  }
}
// #endregion catalog

// #region if-available
/** Resolves with `false` at once if another process imports, or reads. */
export async function importIfFree(locks: LockManager, work: () => Promise<void>): Promise<boolean> {
  return await locks.request('catalog', { ifAvailable: true }, async (lock) => {
    if (lock === null) return false
    await work()
    return true
  })
}
// #endregion if-available

// #region steal
/** For an operator: the process that imports hangs. Its promise rejects with an `AbortError`, and its signal aborts. */
export async function importNow(locks: LockManager, work: () => Promise<void>): Promise<void> {
  await locks.request('catalog', { steal: true }, () => work())
}
// #endregion steal

// #region query
/** The processes that hold the lock. */
export async function usersOf(locks: LockManager): Promise<string[]> {
  const { held } = await locks.query()
  return held.filter(({ name }) => name === 'catalog').map(({ clientId, mode }) => `${clientId} (${mode})`)
}
// #endregion query
