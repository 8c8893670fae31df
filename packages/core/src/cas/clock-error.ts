import { checkFault, faultOfLimit } from '../errors/option-faults.js'

/** Times in headers have whole seconds, and two of them are compared. In milliseconds. */
const STEPS = 2_000

/**
 * The `clockError` of a register over HTTP, by the option `clockDifference` of its store: by how many milliseconds the clocks
 * of two nodes of the service, or of a proxy in front of it, can differ. `undefined` for `Infinity`: no clock is trusted,
 * and challengers observe records. Throws a `LeaseConfigurationError` if the option is invalid.
 */
export function clockErrorOf(store: string, clockDifference: number): number | undefined {
  checkFault(faultOfLimit('clockDifference', clockDifference), { store })
  return clockDifference === Number.POSITIVE_INFINITY ? undefined : STEPS + clockDifference
}
