import { hostname } from 'node:os'
import { nanoid } from 'nanoid/non-secure'

/** An owner that no other process or lease has: `hostname-pid-<nanoid>`. */
export function createOwner(): string {
  return `${hostname()}-${process.pid}-${nanoid(10)}`
}
