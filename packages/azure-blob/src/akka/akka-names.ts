import { LeaseNameError } from '@leasehold/core'

/** Akka cuts longer names. */
const LONGEST = 63

/** Maps lease names to blobs like Akka.Coordination.Azure, and rejects names that would share a blob. */
export class AkkaNames {
  readonly #known = new Map<string, string>()

  /**
   * Throws a `LeaseNameError` if Akka would keep no character of the name; if Akka would cut the name, so that two names with
   * the same start would be one lease; or if another name of this process maps to the same blob.
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
  throw misfit(name, `has ${kept.length} characters that Akka keeps, but Akka cuts it after ${LONGEST}: shorten it`)
}

function misfit(name: string, why: string): LeaseNameError {
  return new LeaseNameError(`the lease name '${name}' ${why}`, { leaseName: name, store: 'azure-blob' })
}
