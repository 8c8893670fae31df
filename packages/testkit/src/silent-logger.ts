import type { Logger } from '@leasehold/core'

/** For trials and simulations: losses and failures are expected there. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
