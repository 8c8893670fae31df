import type { LeaseStore } from '@leasehold/core'
import { Semaphore } from '@leasehold/recipes'

/** Every instance calls this. All instances together download three files at a time; the others wait for their turn. */
export function createDownloader(store: LeaseStore, download: (file: string, signal: AbortSignal) => Promise<void>) {
  // #region downloads
  const downloads = new Semaphore(store, { name: 'downloads', permits: 3 })
  // The signal aborts if the permit is lost: the download has to end then.
  const start = (file: string) =>
    downloads.run(({ signal }) => download(file, signal), { wait: Number.POSITIVE_INFINITY })
  // #endregion downloads
  return { start, stop: () => downloads.stop() }
}
