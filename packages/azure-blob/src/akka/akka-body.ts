import { LeaseConfigurationError } from '@leasehold/core'

/** The text of an Akka lease: its owner, empty if free, and the time of the last heartbeat. */
export function toAkkaBody(owner: string, time: number): string {
  return JSON.stringify({ Owner: owner, Time: toAkkaTime(time) })
}

/** The owner in the text. The time is not used: it is from another machine's clock. */
export function ownerIn(leaseName: string, body: string): string {
  const found = parse(body)
  if (typeof found === 'object' && found !== null && 'Owner' in found) {
    // .NET writes a missing string as null.
    if (typeof found.Owner === 'string' || found.Owner === null) return found.Owner ?? ''
  }
  throw new LeaseConfigurationError(
    `the blob of lease '${leaseName}' does not contain a lease of Akka: choose another name, or remove the blob`,
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
