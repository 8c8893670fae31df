import type { Logger } from '@leasehold/core'

/** Losses and failures are what trials and simulations are about: nobody has to be told. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
