/**
 * File systems that several machines may share, by the type that statfs returns. Only on one machine do appended lines
 * have one order and processes one boot clock: with such a file system, two machines could both hold a lease. A FUSE file
 * system may be local or shared; its type does not show which.
 */
const types: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x564c, 'NCP'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x013661be, 'BeeGFS'],
  [0xaad7aaea, 'PanFS'],
  [0x786f4256, 'VirtualBox shared folders'],
  [0xbacbacbc, 'VMware shared folders'],
])

/** The name of the network file system with this type; `undefined` for a local file system. */
export function networkFileSystem(type: number): string | undefined {
  // Some platforms return the type as a signed number.
  return types.get(type >>> 0)
}
