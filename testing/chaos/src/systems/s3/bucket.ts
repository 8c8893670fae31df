/** Of the leases and the registers. */
export const BUCKET = 'leases'
