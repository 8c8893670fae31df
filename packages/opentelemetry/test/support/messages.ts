import diagnosticsChannel from 'node:diagnostics_channel'

export function publish(name: string, message: object): void {
  diagnosticsChannel.channel(`leasehold:${name}`).publish(message)
}

export async function trace<T>(name: string, message: object, work: () => Promise<T>): Promise<T> {
  return await diagnosticsChannel.tracingChannel(`leasehold:${name}`).tracePromise(work, message)
}

let count = 0

/** The common fields of a lease of its own. */
export function leaseFields(leaseName: string) {
  count += 1
  return { leaseName, owner: `owner-${count}`, store: 'memory', lease: { remaining: 1_500 } }
}
