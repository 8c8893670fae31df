import { clientGoElector } from '@leasehold/testing/client-go-elector'
import { ElectorProcess } from './elector-process.js'

/** `LeaseDuration`, `RenewDeadline` and `RetryPeriod`, in milliseconds. */
export interface ClientGoTimes {
  readonly lease: number
  readonly deadline: number
  readonly retry: number
}

/** Starts an elector of client-go 0.20.2, with `ReleaseOnCancel`, in the namespace `default`. */
export function startClientGo(port: number, name: string, identity: string, times: ClientGoTimes): ElectorProcess {
  const { lease, deadline, retry } = times
  return new ElectorProcess(clientGoElector, [
    `-server=https://127.0.0.1:${port}`,
    `-name=${name}`,
    `-identity=${identity}`,
    `-lease=${lease}ms`,
    `-deadline=${deadline}ms`,
    `-retry=${retry}ms`,
  ])
}
