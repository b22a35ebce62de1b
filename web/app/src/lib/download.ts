/** A file for the visitor. */
export function download(blob: Blob, name: string): void {
    const url = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Nothing that a file system would stumble over. */
export function fileName(name: string, ending: string): string {
    const plain = name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60);
    return `${plain || 'model'}${ending}`;
}
