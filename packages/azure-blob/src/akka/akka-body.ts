import { LeaseConfigurationError } from '@leasehold/core'

/** The text of an Akka lease: who holds it, and when that was last confirmed. An empty owner: nobody. */
export function toAkkaBody(owner: string, time: number): string {
  return JSON.stringify({ Owner: owner, Time: toAkkaTime(time) })
}

/** Who holds the lease. The time is not read: it is of another machine's clock. */
export function ownerIn(leaseName: string, body: string): string {
  const found = parse(body)
  if (typeof found === 'object' && found !== null && 'Owner' in found) {
    // .NET writes a string that is missing as null.
    if (typeof found.Owner === 'string' || found.Owner === null) return found.Owner ?? ''
  }
  throw new LeaseConfigurationError(
    `what is in the blob of lease '${leaseName}' is no lease of Akka: choose another name, or remove the blob`,
    { leaseName, store: 'azure-blob' },
  )
}

/** Seven digits and an offset, as .NET writes a `DateTimeOffset`; from milliseconds since 1970. */
function toAkkaTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, -1)}0000+00:00`
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
