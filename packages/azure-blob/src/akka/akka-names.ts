import { LeaseNameError } from '@leasehold/core'

/** Akka cuts longer names off. */
const LONGEST = 63

/** Finds the blobs of lease names as Akka.Coordination.Azure does, where that makes no two of them one. */
export class AkkaNames {
  readonly #known = new Map<string, string>()

  /**
   * Throws a `LeaseNameError` where nothing is left of the name; where Akka would cut it off, so that two names that begin
   * alike would be one lease; and where another name of this process has become the same.
   */
  blobOf(name: string): string {
    const blobName = toAkkaName(name)
    const known = this.#known.get(blobName)
    if (known === undefined) this.#known.set(blobName, name)
    else if (known !== name) throw misfit(name, `is the same lease as '${known}' to Akka: rename one of them`)
    return blobName
  }
}

function toAkkaName(name: string): string {
  const kept = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[_.]/g, '-')
    .replaceAll(/[^-a-z0-9]/g, '')
  if (kept === '') throw misfit(name, 'has no letter or digit that Akka keeps: a to z, 0 to 9 and hyphens')
  if (kept.length <= LONGEST) return kept
  throw misfit(name, `has ${kept.length} characters that Akka keeps, and would be cut off after ${LONGEST}: shorten it`)
}

function misfit(name: string, why: string): LeaseNameError {
  return new LeaseNameError(`the lease name '${name}' ${why}`, { leaseName: name, store: 'azure-blob' })
}
