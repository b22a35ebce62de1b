/* Packs modules that share most of their code into one file, which compresses to little more than one of them: an empty
 * module, with each as a custom section of its name. WebAssembly.Module.customSections gives them back.
 * Usage: node pack.mjs OUT NAME.wasm… */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const [out, ...files] = process.argv.slice(2);

/** An unsigned integer, as WebAssembly writes it (LEB128). */
function size(n) {
    const bytes = [];
    for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) + 128);
    return Buffer.from([...bytes, n]);
}

function section(file) {
    const name = Buffer.from(basename(file, '.wasm'));
    const content = Buffer.concat([size(name.length), name, readFileSync(file)]);
    return Buffer.concat([Buffer.from([0]), size(content.length), content]);
}

const empty = Buffer.from('\0asm\x01\0\0\0', 'latin1');
writeFileSync(out, Buffer.concat([empty, ...files.map(section)]));
