/** How errors name a listing of the leases whose names begin with the prefix. */
export function listingText(prefix: string): string {
  return prefix === '' ? 'listing the leases' : `listing leases '${prefix}…'`
}
