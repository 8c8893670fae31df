/** A module of the older kind, which is one function. */
module.exports = async (settings, context) => {
  const { memoryLease } = await import('@leasehold/core')
  return memoryLease(settings, context)
}
