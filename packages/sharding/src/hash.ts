/**
 * The hash of an entity's id, from 0 to 2^32 - 1: FNV-1a over the UTF-8 bytes, then the finaliser of MurmurHash3, which spreads
 * ids that differ in their last character only. Every version gives the same number: the processes of a region must agree.
 * See http://www.isthe.com/chongo/tech/comp/fnv and https://github.com/aappleby/smhasher.
 */
export function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (const byte of bytes.encode(id)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const bytes = new TextEncoder()

/** The shard of an entity. */
export function shardOf(id: string, shards: number): number {
  return hashOf(id) % shards
}
